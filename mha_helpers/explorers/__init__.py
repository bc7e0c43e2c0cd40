"""The explorers, one file a page: what is computed, what is drawn, what is said.

Each is a function without arguments that returns a ``Panel``; ``e00_attention`` serves pages 00 and 09.
"""

from mha_helpers.explorers.e00_attention import attention_explorer

__all__ = ["attention_explorer"]
