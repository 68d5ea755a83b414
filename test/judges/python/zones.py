# Local times around each change of clocks, and the instants that they are, by Python's zoneinfo: one JSON array a zone.
# Usage: PYTHONTZPATH= python3 zones.py FIRST_YEAR LAST_YEAR < names

import datetime as dt
import json
import sys
import zoneinfo

import tzdata

first, last = int(sys.argv[1]), int(sys.argv[2])
utc = dt.timezone.utc
epoch = dt.datetime(1970, 1, 1)
print(json.dumps(tzdata.IANA_VERSION))


def offset(zone, seconds):
    return round((epoch.replace(tzinfo=utc) + dt.timedelta(seconds=seconds)).astimezone(zone).utcoffset().total_seconds())


def instants(zone, local):
    wall = epoch + dt.timedelta(seconds=local)
    found = set()
    for fold in (0, 1):
        at = wall.replace(tzinfo=zone, fold=fold).astimezone(utc)
        if at.astimezone(zone).replace(tzinfo=None) == wall:
            found.add((at.replace(tzinfo=None) - epoch) // dt.timedelta(seconds=1))
    return sorted(found)


def changes(zone):
    step = 10 * 86400
    at = int((dt.datetime(first, 1, 1) - epoch).total_seconds())
    end = int((dt.datetime(last, 12, 31) - epoch).total_seconds())
    before = offset(zone, at)
    while at < end:
        after = offset(zone, at + step)
        if after != before:
            low, high = at, at + step
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(zone, middle) == before else (low, middle)
            yield high, before, after
        before = after
        at += step


for name in sys.stdin.read().split():
    try:
        zone = zoneinfo.ZoneInfo(name)
    except zoneinfo.ZoneInfoNotFoundError:
        continue
    locals_ = [0, 1_700_000_000]
    for at, before, after in changes(zone):
        edges = (at + before, at + after)
        locals_ += [edge + more for edge in edges for more in (-1, 0, 1)] + [sum(edges) // 2]
    print(json.dumps([name, [[local, instants(zone, local)] for local in sorted(set(locals_))]]))
