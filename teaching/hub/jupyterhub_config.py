"""A JupyterHub for a class on one server. TEACHING.md (“A class on a hub”) says how to start it.

With CLASS_PASSWORD in the environment learners log in with that password and a name of their own choice, such
as anna07; without it, with an account of the server (PAM). Where systemd runs, each learner is a user apart,
with a limit of memory. Elsewhere all share the account of the hub: that is for trying it out only.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - given to every configuration of Jupyter

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
PASSWORD = os.environ.get("CLASS_PASSWORD")
SYSTEMD = Path("/run/systemd/system").exists()

# --- who may come in ------------------------------------------------------------------------------------

c.JupyterHub.authenticator_class = "shared-password" if PASSWORD else "pam"
c.SharedPasswordAuthenticator.user_password = PASSWORD
c.Authenticator.allow_all = True
if PASSWORD:  # a name becomes that of a folder in /var/lib, where no program keeps one of this form
    c.Authenticator.username_pattern = r"[a-z]{2,20}[0-9]{2}\Z"
    c.JupyterHub.template_vars = {"announcement_login": "Your name: small letters and two digits, as anna07"}

# --- a server for each --------------------------------------------------------------------------------------

if SYSTEMD:
    c.JupyterHub.spawner_class = "systemd"
    c.SystemdSpawner.dynamic_users = bool(PASSWORD)  # homes: /var/lib/NAME
    c.SystemdSpawner.isolate_tmp = True
    c.SystemdSpawner.disable_user_sudo = True
elif PASSWORD:
    c.JupyterHub.spawner_class = "simple"
    c.SimpleLocalProcessSpawner.home_dir_template = str(Path("homes/{username}").resolve())

# Every start copies the pages that a learner has not got, and leaves those that they have as they are.
# It signs those of the course, and none of theirs: where two work on a page, the second sees its Panels, too.
# What nbformat has not got to check, the grammar of addresses, would take most of the second that this takes.
QUICK = "import sys; sys.modules['rfc3987_syntax'] = None; from nbformat.sign import main; main()"
SIGN = f'nice "{sys.executable}" -c "{QUICK}" "$0"/*.ipynb "$0"/*/*.ipynb > /dev/null'
COPY = f'cp -R -n "$0" . ; {SIGN} & exec "$@"'
SERVER = str(Path(sys.executable).with_name("jupyterhub-singleuser"))
c.Spawner.cmd = ["sh", "-c", COPY, str(NOTEBOOKS), SERVER]
c.Spawner.default_url = "/lab/tree/notebooks/00_start_here.ipynb"
c.Spawner.mem_limit = "1200M"  # four pages open at a time; enforced by systemd
c.Spawner.start_timeout = c.Spawner.http_timeout = 180  # seconds: thirty start at once
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=1800",  # a page whose tab was closed half an hour ago
    "--MappingKernelManager.cull_interval=300",
]
if os.geteuid() == 0 and not SYSTEMD:
    c.Spawner.args.append("--allow-root")

# --- idle servers end ---------------------------------------------------------------------------------------

SCOPES = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
c.JupyterHub.load_roles = [{"name": "idle-culler", "scopes": SCOPES, "services": ["idle-culler"]}]
c.JupyterHub.services = [
    {"name": "idle-culler", "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"]}
]
