"""Worlds of a method made and asked in one call, and the rows of their reports."""

import jostle


def rows_of(report):
    contacts = report.contacts
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, contacts.kind)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def detected(method, bodies, **options):
    world = jostle.World(method)
    for mesh, pose in bodies:
        world.add(mesh, pose)
    return world.detect(**options)
