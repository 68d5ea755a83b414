"""Drivers of PostgreSQL for Python against a node. Arguments: the driver, its port, a statement with every type. A line for each thing
that it does: what the test expects of it is in postgres-drivers.test.ts."""

import asyncio
import io
import sys

DRIVER, PORT, TYPES = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ALL = 'select n from "demo/all" order by n'


def state_of(error):
    """The SQLSTATE, wherever the driver has it."""
    for name in ('sqlstate', 'pgcode'):
        if getattr(error, name, None):
            return getattr(error, name)
    return error.args[0]['C'] if error.args and isinstance(error.args[0], dict) else repr(error)


def shown(value):
    if isinstance(value, memoryview):
        value = bytes(value)
    return f'{type(value).__name__} {value}'


def told(name, work):
    try:
        print(f'{name}: {work()}')
    except Exception as error:
        print(f'{name}: refused {state_of(error)}')


def with_psycopg():
    import psycopg

    with psycopg.connect(host='127.0.0.1', port=PORT, user='anonymous', dbname='all', autocommit=True) as connection:

        def cursor():
            with connection.transaction(), connection.cursor('of server') as found:
                found.itersize = 50
                found.execute(ALL)
                return sum(row[0] for row in found)

        def cursor_with_values():
            with connection.transaction(), connection.cursor('of server') as found:
                found.execute('select n from "demo/all" where n > %s order by n', (998,))
                return found.fetchall()

        def pipeline():
            with connection.pipeline():
                first = connection.execute('select 1')
                second = connection.execute('select n from "demo/all" where n = %s', (3,))
                return first.fetchall() + second.fetchall()

        def copy():
            with connection.cursor().copy(f'copy ({ALL}) to stdout') as found:
                return b''.join(bytes(part) for part in found).decode().split()[-1]

        def copied_rows():
            with connection.cursor().copy(f'copy ({ALL}) to stdout') as found:
                return len(list(found.rows()))

        told('types', lambda: '; '.join(shown(value) for value in connection.execute(TYPES).fetchone()))
        told('types in binary', lambda: '; '.join(shown(value) for value in connection.cursor(binary=True).execute(TYPES).fetchone()))
        told('values', lambda: connection.execute('select n, word from "demo/all" where n = %s and word = %s', (5, 'w5')).fetchall())
        told('values in binary', lambda: connection.execute('select %b, %b, %b', (5, 2.5, 'x')).fetchall())
        connection.prepare_threshold = 0
        told('prepared', lambda: [connection.execute('select n from "demo/all" where n = %s', (n,)).fetchone() for n in (1, 2)])
        told('cursor', cursor)
        told('cursor with values', cursor_with_values)
        told('pipeline', pipeline)
        told('stream', lambda: len(list(connection.cursor().stream(ALL))))
        told('copy', copy)
        told('copied rows', copied_rows)
        told('error', lambda: connection.execute('select nothing'))
        told('write', lambda: connection.execute('delete from "demo/all"'))


def with_psycopg2():
    import psycopg2

    connection = psycopg2.connect(host='127.0.0.1', port=PORT, user='anonymous', dbname='all')

    def asked(sql, values=None):
        found = connection.cursor()
        found.execute(sql, values)
        return found.fetchall()

    def cursor():
        found = connection.cursor('of server')
        found.itersize = 50
        found.execute(ALL)
        return sum(row[0] for row in found)

    def copy():
        out = io.StringIO()
        connection.cursor().copy_expert('copy "demo/all" (n) to stdout with csv header', out)
        return out.getvalue().split()[0]

    def session():
        connection.set_session(isolation_level='REPEATABLE READ', readonly=True)
        return asked('select 1')

    told('types', lambda: '; '.join(shown(value) for value in asked(TYPES)[0]))
    told('values', lambda: asked('select n, word from "demo/all" where n = %s and word = %s', (5, 'w5')))
    told('texts', lambda: asked('select %s', ("it's \\ \n",)))
    told('cursor', cursor)
    told('copy', copy)
    told('error', lambda: asked('select nothing'))
    told('failed', lambda: asked('select 1'))
    connection.rollback()
    told('write', lambda: asked('delete from "demo/all"'))
    connection.rollback()
    told('session', session)
    connection.close()


async def with_asyncpg():
    import asyncpg

    connection = await asyncpg.connect(host='127.0.0.1', port=PORT, user='anonymous', database='all')

    async def told_of(name, work):
        try:
            print(f'{name}: {await work()}')
        except Exception as error:
            print(f'{name}: refused {state_of(error)}')

    async def types():
        return '; '.join(shown(value) for value in (await connection.fetchrow(TYPES)).values())

    async def cursor():
        async with connection.transaction():
            return sum([row['n'] async for row in connection.cursor(ALL, prefetch=50)])

    async def copy():
        parts = []

        async def take(part):
            parts.append(part)

        return await connection.copy_from_query(ALL, output=take), b''.join(parts).split()[-1]

    async def rows():
        return [tuple(row) for row in await connection.fetch('select n, word from "demo/all" where n < 3 order by n')]

    await told_of('types', types)
    await told_of('rows', rows)
    await told_of('cursor', cursor)
    await told_of('copy', copy)
    await told_of('error', lambda: connection.fetch('select nothing'))
    await told_of('write', lambda: connection.execute('delete from "demo/all"'))
    await connection.close()


def with_pg8000():
    import pg8000.native

    connection = pg8000.native.Connection('anonymous', host='127.0.0.1', port=PORT, database='all')

    def copy():
        out = io.BytesIO()
        connection.run(f'copy ({ALL}) to stdout', stream=out)
        return out.getvalue().split()[-1]

    def cursor():
        connection.run('begin')
        connection.run(f'declare c cursor for {ALL}')
        found = connection.run('fetch 3 from c')
        connection.run('commit')
        return found

    prepared = connection.prepare('select word from "demo/all" where n = :n')
    told('types', lambda: '; '.join(shown(value) for value in connection.run(TYPES)[0]))
    told('values', lambda: connection.run('select n, word from "demo/all" where n = :n and word = :w', n=5, w='w5'))
    told('prepared', lambda: [prepared.run(n=n) for n in (1, 2)])
    told('cursor', cursor)
    told('copy', copy)
    told('error', lambda: connection.run('select nothing'))
    told('write', lambda: connection.run('delete from "demo/all"'))
    connection.close()


if DRIVER == 'asyncpg':
    asyncio.run(with_asyncpg())
else:
    {'psycopg': with_psycopg, 'psycopg2': with_psycopg2, 'pg8000': with_pg8000}[DRIVER]()
