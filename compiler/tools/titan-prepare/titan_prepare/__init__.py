"""titan-prepare: turns texts, prompts with answers, and chats into the token files that programs read.

The formats and options are described in docs/data.md.
"""
