"""English words whose meaning must not be left to an embedding."""

from __future__ import annotations


def _split(words: str) -> list[str]:
    return words.split()


NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        _split("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty")
    )
} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000", "million": "1000000", "dozen": "12", "first": "1st", "second": "2nd",
    "third": "3rd", "fourth": "4th", "fifth": "5th", "half": "1/2", "once": "1", "twice": "2", "single": "1",
    "couple": "2", "pair": "2", "both": "2",
}  # fmt: skip
NEGATIONS = frozenset(
    _split(
        "not no never none nobody nothing nowhere neither nor without cannot except excluding unless lacking lack "
        "exclude omit avoid ignore skip ignoring skipping omitting avoiding but minus"
    )
)
CALENDAR = {
    **{name: name[:3] for name in _split("january february march april june july august september october november "
       "december monday tuesday wednesday thursday friday saturday sunday")},
    **dict.fromkeys(("sept",), "sep"),
    **{name: name for name in _split("jan feb mar apr jun jul aug sep oct nov dec mon tue tues wed thu thur thurs fri "
       "sat today tomorrow yesterday tonight noon midnight morning afternoon evening night weekend weekday weekly "
       "daily monthly yearly annual annually hourly quarterly am pm spring summer autumn winter")},
}  # fmt: skip
OPPOSITES = tuple(
    frozenset(group.split())
    for group in """
    before after until since during
    open opened closed close shut
    cheap cheapest expensive dearest pricey priciest
    increase decrease raise raised lower reduce reduced increased decreased
    enable enabled disable disabled on off
    include including included excluded
    minimum maximum min max least most lowest highest
    in out inbound outbound
    buy sell bought sold purchase
    arrive arrives arriving arrival arrivals depart departs departing departure departures leaving
    above below over under
    more less fewer greater smaller
    add added remove removed delete deleted create created
    start end begin finish stop started ended stopped
    old new oldest newest older newer latest earliest recent
    sent received incoming outgoing
    paid unpaid overdue outstanding
    public private
    up down
    left right
    north south east west northern southern eastern western
    hot cold warm
    accept accepted reject rejected approve approved deny denied decline declined
    ascending descending
    internal external
    all any every some each only
    active inactive
    online offline
    adult adults child children infant infants
    small medium large
    red green blue yellow black white orange purple pink brown grey gray
    man men woman women male female boys girls
    business economy premium
    win won lose lost
    read write
    upload download
    import export
    valid invalid
    success successful succeeded failed failure failing
    allow allowed forbid forbidden
    possible impossible
    known unknown
    always sometimes
    fast fastest slow slowest
    short shortest long longest
    near nearest far farthest
    first last next previous
    income expense expenses
    credit debit
    indoor outdoor
    domestic international
    single double twin
    breakfast lunch dinner
    subscribe unsubscribe
    lock unlock locked unlocked
    show hide hidden
    past future upcoming
    good bad best worst
    buyer seller
    sender recipient
    teacher student
    question answer
    high low
    day week month year hour minute
    celsius fahrenheit
    vegetarian vegan meat
    direct nonstop connecting
    refund refunds exchange
    by for about
    should must may might
    parent parents
    """.strip().splitlines()
)
"""Words of which one never stands for another: where both texts have some of a group, they must have the same."""
PLACING = frozenset(
    _split("from to in at near by of before after between via until since than under over with without")
)
SMALL = frozenset(
    _split(
        "a an the is are was were be been of for in on at with and or do does did can could would will please i me my "
        "we our you your it its this that these those there any some have has had get give tell show find list look up "
        "need want like about as how what which who when where let us am s re ve ll d m t"
    )
)
