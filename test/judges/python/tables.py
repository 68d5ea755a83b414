# Tables in random dialects, as Python's csv writes them: one JSON object a line, with parameters, bytes, types and values.
# Usage: python3 tables.py SEED COUNT

import base64
import csv
import datetime as dt
import io
import json
import random
import sys
import zoneinfo

seed, count = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)

alphabets = {
    'utf-8': 'aböé€漢😀 ',
    'windows-1252': 'abzöüß€é ',
    'iso-8859-15': 'abzöüß€é ',
    'windows-1250': 'abzłőž ',
    'koi8-r': 'abжшЯ ',
    'utf-16': 'aböé€漢😀 ',
    'shift_jis': 'ab漢字カ ',
    'gb18030': 'ab漢字€😀 ',
    'big5': 'ab漢字 ',
    'euc-kr': 'ab한글 ',
    'euc-jp': 'ab漢字カ ',
}
days = {'dd.MM.yyyy': '%d.%m.%Y', 'MM/dd/yyyy': '%m/%d/%Y', 'yyyyMMdd': '%Y%m%d', 'dd-MMM-yyyy': '%d-%b-%Y', 'dd.MM.yy': '%d.%m.%y'}
times = {
    'dd.MM.yyyy HH:mm:ss': '%d.%m.%Y %H:%M:%S',
    'MM/dd/yyyy hh:mm a': '%m/%d/%Y %I:%M %p',
    "yyyy/MM/dd 'at' HH.mm": '%Y/%m/%d at %H.%M',
    'yyyyMMddHHmmssSSS': None,
}
zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', '+05:30']
epoch = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


def zone_of(name):
    if name[0] in '+-':
        return dt.timezone(dt.timedelta(hours=int(name[1:3]), minutes=int(name[4:])))
    return zoneinfo.ZoneInfo(name)


def exact(local, zone):
    both = {local.replace(tzinfo=zone, fold=fold).astimezone(dt.timezone.utc) for fold in (0, 1)}
    return len(both) == 1


def spelt(number, decimal, group):
    text = f'{number:,}' if group else str(number)
    return text.replace(',', '\0').replace('.', decimal).replace('\0', group)


def table():
    charset = rng.choice(list(alphabets))
    letters = alphabets[charset]
    delimiter = rng.choice([',', ';', '\t', '|', '~', ':'])
    quote = rng.choice(['"', '"', "'", '`'])
    decimal = rng.choice(['.', ','])
    groups = ['', '', '.', ',', "'", ' '] + (['\u00a0', '\u202f', '’'] if charset in ('utf-8', 'utf-16') else [])
    group = rng.choice([one for one in groups if one not in (decimal, quote)])
    everything = rng.random() < 0.5
    null = '' if everything else rng.choice(['', 'NA', '-999'])
    words = rng.choice([('true', 'false'), ('ja', 'nein'), ('Y', 'N')])
    day, time = rng.choice(list(days)), rng.choice(list(times))
    zone = rng.choice(zones)
    skipped, comment = rng.choice([0, 0, 1, 3]), rng.choice(['', '', '#'])
    line_end = rng.choice(['\n', '\r\n'])

    params = {'delimiter': 'tab' if delimiter == '\t' else delimiter, 'decimal': decimal, 'timeZone': zone}
    params |= {'dateFormat.day': day, 'dateFormat.time': time, 'trueFalse': ','.join(words)}
    if 'yy' in day and 'yyyy' not in day:
        params['pivotYear'] = '1970'
    if quote != '"':
        params['quote'] = quote
    if group:
        params['group'] = group
    if null:
        params['nulls'] = null
    if skipped:
        params['skipRows'] = str(skipped)
    if comment:
        params['comment'] = comment
    if charset != 'utf-8' and charset != 'utf-16':
        params['charset'] = charset

    rows, written = [], []
    for at in range(rng.randint(1, 40)):
        row, cells = [at], [str(at)]
        text = ('x' if at == 0 else '') + ''.join(rng.choice(letters + delimiter + quote + '\n#') for _ in range(rng.randint(1, 9)))
        if not everything:
            text = text.strip() or 'x'
        row.append(text)
        cells.append(text)
        number = rng.choice([rng.randint(-(10**rng.randint(1, 15)), 10 ** rng.randint(1, 15)), 0])
        row.append(number)
        cells.append(spelt(number, decimal, group))
        real = 0.5 if at == 0 else round(rng.uniform(-1e7, 1e7), rng.randint(1, 6))
        row.append(real)
        cells.append(spelt(real, decimal, group))
        flag = rng.random() < 0.5
        row.append(flag)
        cells.append(words[0] if flag else words[1])
        date = dt.date(1970, 1, 1) + dt.timedelta(days=rng.randint(0, 36000))
        row.append(date.isoformat())
        cells.append(date.strftime(days[day]))
        local = dt.datetime(1980, 1, 1) + dt.timedelta(seconds=rng.randint(0, 2_000_000_000))
        if times[time] is not None:
            local = dt.datetime.strptime(local.strftime(times[time]), times[time])
        while not exact(local, zone_of(zone)):
            local += dt.timedelta(hours=5)
        row.append((local.replace(tzinfo=zone_of(zone)) - epoch) // dt.timedelta(microseconds=1))
        cells.append(local.strftime(times[time]) if times[time] else local.strftime('%Y%m%d%H%M%S') + '000')
        for column in range(2, 7):
            if at > 0 and not everything and rng.random() < 0.2:
                row[column] = None
                cells[column] = null
        rows.append(row)
        written.append(cells)

    out = io.StringIO()
    for line in range(skipped):
        out.write(f'title {quote} {line}{line_end}')
    if comment:
        out.write(f'# {quote} no record{line_end}')
    quoting = csv.QUOTE_ALL if everything else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, quotechar=quote, quoting=quoting, lineterminator=line_end)
    writer.writerow(['n', 'text', 'int', 'real', 'flag', 'day', 'time'])
    for at, cells in enumerate(written):
        if comment and at % 7 == 3:
            out.write(f'#{delimiter}{quote}{line_end}')
        writer.writerow(cells)
    data = out.getvalue().encode(charset)
    return {'params': params, 'bytes': base64.b64encode(data).decode(), 'rows': rows}


for _ in range(count):
    print(json.dumps(table()))
