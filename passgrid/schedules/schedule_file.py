"""The schedule file: which matrices are submitted by themselves, and when.

schedules:
  nightly:
    cron: "0 2 * * *"
    timezone: Europe/London
    matrix: {suites: [shop], models: ["openai:gpt-5?max_tokens=2000"], k: 3, mode: live}
    budget: 5.00
    label: nightly-{date}
    missed: skip
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from passgrid.parts import NAME_PATTERN, Name
from passgrid.problems import InvalidInput, Problem
from passgrid.request import Request, request_of, request_problems
from passgrid.schedules.cron import Cron, next_slots, parse_cron
from passgrid.yaml_files import read_yaml, validated

_PLACES = re.compile(r"\{(\w*)\}")
_KNOWN_PLACES = frozenset({"date", "time", "schedule"})
_COMPARED_SLOTS = 60
_SUITES = "Folders relative to the schedule file, or suites of the library by name."


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScheduledMatrix(_Part):
    """What is submitted, in the words of `submit-matrix`."""

    suites: tuple[str, ...] = Field(min_length=1, description=_SUITES)
    models: tuple[str, ...] = Field(min_length=1)
    scenarios: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    k: int = Field(default=1, ge=1)
    mode: Literal["replay", "live"] = "live"
    record: bool | None = Field(
        default=None, description="Make cassettes of it; in the mode live yes unless it says no."
    )
    limit: int | None = Field(default=None, ge=1)
    priority: int = 0
    max_tries: int = Field(default=3, ge=1)
    allow_unpriced: bool = False

    @property
    def records(self) -> bool:
        """Whether its attempts become cassettes."""
        return self.mode == "live" if self.record is None else self.record


class DriftMatrix(_Part):
    """A second matrix in the mode drift: recorded models on the same live tools."""

    models: tuple[str, ...] = Field(min_length=1, description="Such as recorded:gpt-5.")
    suites: tuple[str, ...] = Field(default=(), description="Those of the matrix when absent.")
    scenarios: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    k: int = Field(default=1, ge=1)
    limit: int | None = Field(default=None, ge=1)
    priority: int = 0


class Schedule(_Part):
    """One matrix that is submitted again and again, each time under a label of its own."""

    cron: str = Field(description="Minute, hour, day of month, month, day of week, in local time.")
    timezone: str = Field(default="UTC", description="A name of the IANA database, such as Europe/London.")
    matrix: ScheduledMatrix
    drift: DriftMatrix | None = Field(default=None, description="Compared with recordings in the same firing.")
    budget: float | None = Field(default=None, gt=0, description="US dollars of one firing's matrix; never exceeded.")
    label: str = Field(
        default="{schedule}-{date}",
        max_length=60,
        description="{schedule}, {date} and {time} stand for its name and the slot's local date and time.",
    )
    missed: Literal["catch_up", "skip"] = Field(
        default="skip", description="What happens to a slot at which nobody was there: fired late, or only reported."
    )

    @field_validator("cron")
    @classmethod
    def _parses(cls, text: str) -> str:
        parse_cron(text)
        return text

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError("no such time zone; write a name such as Europe/London") from None
        return name

    @field_validator("label")
    @classmethod
    def _is_a_name(cls, label: str) -> str:
        unknown = sorted(set(_PLACES.findall(label)) - _KNOWN_PLACES)
        if unknown:
            raise ValueError(f"{{{unknown[0]}}} stands for nothing; there are {{schedule}}, {{date}} and {{time}}")
        if not re.match(NAME_PATTERN, _PLACES.sub("x", label)):
            raise ValueError("letters, digits, dots, dashes and underscores only: it becomes the name of a folder")
        return label

    @model_validator(mode="after")
    def _labels_differ(self) -> Self:
        coming = next_slots(self.parsed, self.zone, datetime.now(UTC), _COMPARED_SLOTS)
        if len({self.label_of("x", slot) for slot in coming}) != len(coming):
            raise ValueError("two slots would have one label; use {date}, and {time} where there are several a day")
        return self

    @model_validator(mode="after")
    def _recordings_have_a_place_each(self) -> Self:
        if self.matrix.records and len(self.matrix.targets) > 1:
            raise ValueError(
                "recordings of several targets would lie in one place: one schedule each, or record: false"
            )
        return self

    @property
    def parsed(self) -> Cron:
        """Its cron expression."""
        return parse_cron(self.cron)

    @property
    def zone(self) -> ZoneInfo:
        """Its time zone."""
        return ZoneInfo(self.timezone)

    @property
    def slots_text(self) -> str:
        """What decides its slots: another text has other slots."""
        return f"{self.cron} {self.timezone}"

    def label_of(self, name: str, slot: datetime) -> str:
        """The label of a slot's runs."""
        local = slot.astimezone(self.zone)
        return self.label.format(schedule=name, date=local.date().isoformat(), time=f"{local:%H%M}")

    def requests(self, label: str) -> tuple[Request, Request | None]:
        """What a firing submits: its matrix, and the one in the mode drift."""
        matrix = self.matrix.model_dump(exclude={"record"})
        main = request_of({**matrix, "label": label, "budget": self.budget, "record": self.matrix.records})
        if self.drift is None:
            return main, None
        drift = self.drift.model_dump()
        drift["suites"] = drift["suites"] or self.matrix.suites
        return main, request_of({**drift, "mode": "drift", "label": f"{label}-drift"})


class ScheduleFile(_Part):
    """Everything that is submitted by itself."""

    schedules: dict[Name, Schedule] = Field(default_factory=dict)


def read_schedules(path: Path) -> Mapping[str, Schedule]:
    """The schedules in a file; none where it does not exist. Raises `InvalidInput` with every mistake in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput([Problem(str(path), f"cannot be read: {error}")]) from None
    value, problems = read_yaml(path, text)
    if problems:
        raise InvalidInput(problems)
    file, problems = validated(ScheduleFile, value or {}, path, text)
    if file is None:
        raise InvalidInput(problems)
    found = {name: _beside(path, schedule) for name, schedule in file.schedules.items()}
    for name, schedule in found.items():
        for request in filter(None, schedule.requests(schedule.label_of(name, datetime.now(UTC)))):
            problems += [
                Problem(f"{path}: {name}", f"{p.place}: {p.message}", p.remedy) for p in request_problems(request)
            ]
    if problems:
        raise InvalidInput(problems)
    return found


def _beside(path: Path, schedule: Schedule) -> Schedule:
    """Folders of suites made whole: whoever fires it stands elsewhere."""

    def whole(suites: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str((path.parent / one).resolve()) if (path.parent / one).is_dir() else one for one in suites)

    changed: dict[str, Any] = {"matrix": schedule.matrix.model_copy(update={"suites": whole(schedule.matrix.suites)})}
    if schedule.drift is not None:
        changed["drift"] = schedule.drift.model_copy(update={"suites": whole(schedule.drift.suites)})
    return schedule.model_copy(update=changed)


def schedule_schema() -> dict[str, Any]:
    """JSON Schema of a schedule file."""
    schema = ScheduleFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
