// Epochs in a unit that is too fine are times of January 1970. A batch of nothing else is refused by a dataset that has later
// times; what else lies there is stored, with a warning. And a column that lacks times is no event time unasked.

import type { DatasetChain } from '../catalog/dataset-chain.ts'
import { sparseTime } from '../../libraries/formats/event-time.ts'
import { earlySeconds } from '../../libraries/formats/time-rules.ts'
import { NodeError } from '../../libraries/base/errors.ts'
import { foldAscii } from '../../libraries/model/names.ts'
import type { IngestControls } from './controls.ts'
import type { TypedBody } from './reading.ts'
import type { Target } from './shape.ts'

/** Throws NodeError `RecordsDoNotFit` where the unit of the batch's event times is another than that of the dataset's. */
export function demandLikelyTimes(
  { rows, earlyRows = 0 }: Pick<TypedBody, 'rows' | 'earlyRows'>,
  chain: DatasetChain | undefined,
): void {
  const latest = chain?.watermark
  if (earlyRows === 0 || earlyRows < rows || latest === undefined) return
  if (Date.parse(latest) < earlySeconds * 1000) return
  const message = `All event times are in January 1970, and the dataset has times up to ${latest}: the unit is wrong.`
  throw new NodeError('RecordsDoNotFit', `${message} Nothing was stored.`, {
    hint: 'Give the unit of these numbers with eventTimeUnit=s, ms, us or ns (precision at the addresses of InfluxDB), or send times as text.',
    errors: [{ record: 0, kind: 'OutOfRange', message }],
    errorsTotal: 1,
  })
}

/** Throws NodeError `SayHow` where a column was taken as event time that not all records have: the arrival would stand among its values. */
export function demandDated(
  { takenTime, undated }: Pick<TypedBody, 'takenTime' | 'undated'>,
  { shape, vocabulary }: Target,
  { eventTime }: IngestControls,
): void {
  if (takenTime === undefined || undated === 0 || shape !== undefined || eventTime !== undefined) return
  if (foldAscii(takenTime) !== foldAscii(vocabulary.eventTimeColumn)) throw sparseTime(takenTime)
}
