"""`jupyter nbconvert` exports as JupyterLab does."""

load_subconfig("jupyter_server_config.py")  # noqa: F821 - given to every configuration of Jupyter
