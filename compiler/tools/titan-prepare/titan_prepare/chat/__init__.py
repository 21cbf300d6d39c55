"""Chats: from messages to a text by a chat template, and to the spans of the text that the model learns to write.

`template.py` renders, `environment.py` is the sandbox of templates, `answers.py` finds the spans of answers, `marks.py`
reads what messages say about training, and `record.py` takes the parts of a chat from the fields of a record.
"""
