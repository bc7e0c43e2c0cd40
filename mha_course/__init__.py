"""The course beside its helper module ``mha_helpers``: what belongs to its pages.

A folder for each page, named like its notebook (``p07_…``; ``d09_…`` of the folder ``deeper/``), has its
explorer and exercises. The checks rest on ``exercises``, trained models are in ``models``.
"""
