// Days and times before 15 October 1582, where Spark before 3.0, Spark in LEGACY mode and Hive count in the Julian calendar and
// everybody else in the Gregorian one: the same number is another day. Which one a file means, its footer says, or nobody knows.
// Sources: Apache Spark, DataSourceUtils.scala (datetimeRebaseSpec), package.scala (SPARK_VERSION_METADATA_KEY); Apache Hive,
// DataWritableWriteSupport.java (WRITER_DATE_PROLEPTIC).

import type { FileColumn } from '../parquet/file-columns.ts'
import type { Footer } from '../parquet/footer.ts'
import type { Leaf } from '../parquet/leaf-cursor.ts'
import type { LeafType } from '../parquet/leaf-types.ts'
import { innerType, unitsPerSecond } from '../../model/schema.ts'

const sparkVersion = 'org.apache.spark.version'
const sparkLegacy = 'org.apache.spark.legacyDateTime'
/** What Spark wrote before it wrote its version. */
const sparkSchema = 'org.apache.spark.sql.parquet.row.metadata'
const hiveProleptic = 'writer.date.proleptic'
/** Writers over the library of Hive and old Spark (parquet-mr) that count as everybody does. */
const gregorianKeys = ['parquet.avro.schema', 'avro.schema', 'iceberg.schema']

/** The keys of a file's metadata that tell. */
export const calendarKeys: readonly string[] = [sparkVersion, sparkLegacy, sparkSchema, hiveProleptic, ...gregorianKeys]

/** 15 October 1582, the first day on which both calendars agree, in days since 1970. */
const firstSharedDay = -141_427

/** `columns`, whose days and times of before both calendars agree are refused, where the file may mean the Julian one. */
export function withCalendar(columns: readonly FileColumn[], footer: Footer): readonly FileColumn[] {
  const writer = julianWriter(footer)
  if (writer === undefined) return columns
  return columns.map((column) => ({ ...column, leaves: column.leaves.map((leaf) => guarded(leaf, writer)) }))
}

/** Who may have written days of the Julian calendar; undefined where nobody did. */
function julianWriter({ keyValues, createdBy = '' }: Footer): string | undefined {
  const spark = keyValues.get(sparkVersion)
  if (spark !== undefined) {
    return Number.parseInt(spark, 10) < 3 || keyValues.has(sparkLegacy) ? `Spark ${spark.slice(0, 20)}` : undefined
  }
  if (keyValues.has(sparkSchema)) return 'Spark 2'
  const proleptic = keyValues.get(hiveProleptic)
  if (proleptic !== undefined) return proleptic === 'true' ? undefined : 'Hive'
  const isUnknown = createdBy.startsWith('parquet-mr') && !gregorianKeys.some((key) => keyValues.has(key))
  return isUnknown ? 'a program that may be Hive or an old Spark' : undefined
}

function guarded(leaf: Leaf, writer: string): Leaf {
  const { leafType } = leaf
  const type = innerType(leafType.type)
  // Times of 96 bits begin later.
  if (leafType.convert !== undefined || (type.kind !== 'Date' && type.kind !== 'Timestamp')) return leaf
  const unit = type.kind === 'Timestamp' ? (type.unit ?? 'Millisecond') : undefined
  const least = BigInt(firstSharedDay) * BigInt(86_400 * (unit === undefined ? 0 : unitsPerSecond[unit]))
  const convert: LeafType['convert'] = (from, count, out, at) => {
    const view = new DataView(from.buffer, from.byteOffset, from.byteLength)
    const width = unit === undefined ? 4 : 8
    for (let i = 0; i < count; i++) {
      const isEarly = width === 4 ? view.getInt32(4 * i, true) < firstSharedDay : view.getBigInt64(8 * i, true) < least
      if (isEarly) return i
    }
    out.set(from.subarray(0, width * count), at)
    return -1
  }
  const beyond =
    `holds a day before 15 October 1582, written by ${writer}: in which calendar is not certain. ` +
    'Write the file with Spark 3 (spark.sql.parquet.datetimeRebaseModeInWrite=CORRECTED), or that column as text'
  return { ...leaf, leafType: { ...leafType, convert, beyond } }
}
