"""The nearest right program: a wrong answer's own source, changed a little until it is right.

On repair as feedback: Singh, Gulwani and Solar-Lezama, "Automated feedback generation for introductory programming
assignments", 2013; Gulwani, Radicek and Zuleger, "Automated clustering and program repair for introductory programming
assignments", 2018.
"""
