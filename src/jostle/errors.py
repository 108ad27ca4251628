"""The errors that jostle raises.

Every message names what is wrong (body, field, index) and what to do about it.
"""

from __future__ import annotations


class JostleError(Exception):
    """Base of all errors that jostle raises on purpose.

    Examples
    --------
    >>> try:
    ...     jostle.load("no_such_file.stl")
    ... except jostle.JostleError as error:
    ...     print(type(error).__name__)
    InputError
    """


class InputError(JostleError, ValueError):
    """A value passed by the caller cannot be used; the call changed nothing.

    Examples
    --------
    >>> jostle.collide("ball.stl", "wall.obj", clearance=-1)
    Traceback (most recent call last):
        ...
    jostle.errors.InputError: clearance is -1.0; it must be a finite length >= 0
    """


class BoundBroken(InputError):
    """A body moved farther or faster than its stated bound; `body` is its number.

    Nothing is lost: ask for the same frame again to get the right answer.

    Examples
    --------
    >>> world = jostle.World("closest_features(broad='priority_queue(speed=0.3)')")
    >>> ball = world.add("ball.stl", name="ball")
    >>> wall = world.add("wall.obj", jostle.translation((0, 0, -9)), "wall", static=True)
    >>> bool(world.detect(rows="pairs"))
    False
    >>> ball.pose = jostle.translation((0, 0, -8.5))  # 8.5 in one step of `World.dt`, a second
    >>> try:
    ...     report = world.detect(rows="pairs")
    ... except jostle.BoundBroken as broken:
    ...     report = world.detect(rows="pairs")  # the right answer
    ...     print(f"body {broken.body} was faster than stated;", report.pairs.names)
    body 0 was faster than stated; [('ball', 'wall')]
    """

    def __init__(self, message: str, body: int) -> None:
        super().__init__(message)
        self.body = body


class Unsupported(JostleError):
    """The method does not support this scene or query; the message names the trait.

    Examples
    --------
    >>> world = jostle.World("voxmap")
    >>> world.add("ball.stl", deformable=True)
    Traceback (most recent call last):
        ...
    jostle.errors.Unsupported: voxmap needs rigid bodies (trait needs: rigid); ...
    """


class NoCompiler(Unsupported):
    """A kernel has no code, and cannot or must not be compiled."""


class BusyError(JostleError, RuntimeError):
    """A world was used by two threads at the same time.

    Examples
    --------
    One world for each thread; the meshes may be shared:

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> mesh = jostle.load("ball.stl")
    >>> def touches(height):
    ...     return bool(jostle.collide(mesh, "wall.obj", pose_a=jostle.translation((0, 0, height))))
    >>> with ThreadPoolExecutor() as pool:
    ...     list(pool.map(touches, [0.5, 1.5]))
    [True, False]
    """
