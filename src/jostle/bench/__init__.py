"""The bench that compares jostle with the libraries its users would pick instead: `jostle bench peers`.

Same meshes, same poses, one thread each, every contestant in a process of its own, rounds interleaved, medians; and what
each found against an exact reference. Nothing else in jostle imports this package but its command.
"""
