"""What programs use of gymnasium: `reset(seed=n)`, which gives two values, and five values of `step`.

Written for these tests; environments and spaces start from entropy until they are seeded, as they do there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import spaces
from .spaces import Space
from .utils import seeding

__version__ = "1.2.0"


class Env:
    """An environment."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as there
    action_space: Space
    observation_space: Space
    _np_random: np.random.Generator | None = None

    @property
    def np_random(self) -> np.random.Generator:
        if self._np_random is None:
            self._np_random, _ = seeding.np_random()
        return self._np_random

    @property
    def unwrapped(self) -> Env:
        return self

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        raise NotImplementedError

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._np_random, _ = seeding.np_random(seed)
        return None, {}

    def render(self) -> None:
        pass

    def close(self) -> None:
        pass


class Wrapper(Env):
    """An environment around another one."""

    def __init__(self, env: Env) -> None:
        self.env = env
        self.action_space = env.action_space
        self.observation_space = env.observation_space

    @property
    def unwrapped(self) -> Env:
        return self.env.unwrapped

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.env.step(action)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return self.env.reset(seed=seed, options=options)


class CartPole(Env):
    """A pole on a cart that is pushed to the left or to the right, roughly."""

    def __init__(self) -> None:
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Box(-4.8, 4.8, (4,))
        self.state = np.zeros(4)
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self.np_random.uniform(-0.05, 0.05, 4)
        self.steps = 0
        return self.state.astype(np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in (0, 1), action
        place, speed, angle, turning = self.state
        push = 10.0 if action == 1 else -10.0
        turning += 0.02 * (9.8 * angle - push) * 1.5
        speed += 0.02 * push
        self.state = np.array([place + 0.02 * speed, speed, angle + 0.02 * turning, turning])
        self.steps += 1
        terminated = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21)
        return self.state.astype(np.float32), 1.0, terminated, self.steps >= 200, {}


class Pendulum(Env):
    """A pendulum that is turned by a torque, for 40 steps."""

    def __init__(self) -> None:
        self.action_space = spaces.Box(-2.0, 2.0, (1,))
        self.observation_space = spaces.Box(-8.0, 8.0, (3,))
        self.state = np.zeros(2)
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self.np_random.uniform(-1.0, 1.0, 2) * np.array([np.pi, 1.0])
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        angle, turning = self.state
        torque = float(np.clip(action, -2.0, 2.0)[0])
        cost = angle**2 + 0.1 * turning**2 + 0.001 * torque**2
        turning = np.clip(turning + 0.05 * (15.0 * np.sin(angle) + 3.0 * torque), -8.0, 8.0)
        self.state = np.array([angle + 0.05 * turning, turning])
        self.steps += 1
        return self._observation(), -float(cost), False, self.steps >= 40, {}

    def _observation(self) -> Any:
        angle, turning = self.state
        return np.array([np.cos(angle), np.sin(angle), turning], dtype=np.float32)


def make(id: str, **kwargs: Any) -> Env:  # noqa: A002 - as there
    """The environment of a name."""
    return {"CartPole-v1": CartPole, "Pendulum-v1": Pendulum}[id](**kwargs)
