"""The agent loop over all user turns of one attempt, keeping what was said whatever happens."""

from __future__ import annotations

from pydantic_ai import Agent, UsageLimits, capture_run_messages
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from passgrid.cassettes.format import Cassette
from passgrid.models.recorded import RecordedModel

_NO_LIMITS = UsageLimits(request_limit=None)
"""The meter keeps the limits, over the whole attempt; the agent library would count each user turn anew."""


class Conversation:
    """Runs an agent over user turns, and keeps what was said, also after an exception."""

    def __init__(self, agent: Agent[None, str]) -> None:
        self._agent = agent
        self._said: list[ModelMessage] = []
        self._saying: list[ModelMessage] = []

    @property
    def messages(self) -> list[ModelMessage]:
        """Everything said so far; may be asked while something is being said, from another thread too."""
        return list(self._saying or self._said)

    async def say(self, user_turn: str) -> None:
        """One user turn and all the model turns and calls that follow from it."""
        with capture_run_messages() as captured:
            self._saying = captured
            try:
                await self._agent.run(user_turn, message_history=self._said or None, usage_limits=_NO_LIMITS)
            finally:
                self._said, self._saying = list(captured or self._said), []

    def leave_unanswered(self, user_turn: str) -> None:
        """A last user turn that no model turn answered."""
        self._said.append(ModelRequest(parts=[UserPromptPart(user_turn)]))


async def converse(conversation: Conversation, user_turns: tuple[str, ...]) -> None:
    """Every scripted user turn, one after the other."""
    for user_turn in user_turns:
        await conversation.say(user_turn)


async def converse_as_recorded(conversation: Conversation, model: RecordedModel, cassette: Cassette) -> None:
    """The cassette's user turns; the last is left unanswered where it was left unanswered then."""
    for user_turn in (step["user"] for step in cassette.steps if "user" in step):
        if model.answers_next_user_turn:
            await conversation.say(user_turn)
        else:
            model.skip_user_turn(user_turn)
            conversation.leave_unanswered(user_turn)
