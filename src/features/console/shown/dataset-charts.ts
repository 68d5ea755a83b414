// The charts of a dataset's page: its numbers over event time, or why there are none.

import type { Plot } from '../charts/points.ts'
import { drawnColumns, namingColumn, plotOfSpans } from '../charts/spans.ts'
import type { ShownColumn } from '../dataset-page.ts'
import { chartOf, chartSpans, type Glance, mostMs } from '../newest-rows.ts'
import { NodeError } from '../../../libraries/base/errors.ts'

/** `rows`: those that figures are of; undefined where figures took too long. */
export async function chartsAt(
  glance: Glance,
  columns: readonly ShownColumn[],
  rows: number | undefined,
): Promise<readonly Plot[] | { readonly reason: string }> {
  if (!columns.some(({ isNumber, isSystem }) => isNumber && !isSystem))
    return noChart('the dataset has no column of numbers')
  const drawn = drawnColumns(columns, rows)
  if (drawn.length === 0) return noChart('its numbers are coordinates, count the rows, or are all the same')
  const time = glance.view.vocabulary.eventTimeColumn
  const chart = await unlessSlow(chartOf(glance, time, { fields: drawn, series: namingColumn(columns) }), 'slow')
  if (chart === 'slow') return noChart(`to draw one takes more than ${mostMs / 1000} seconds now`)
  if (chart === undefined) return noChart(`all rows have the same ${time}`)
  const { fromMs, toMs } = chart
  const of = { x: time, fromMs, toMs, count: chartSpans }
  const plots = chart.columns.flatMap((spans, at) =>
    spans.length < 2 ? [] : [plotOfSpans({ ...of, y: drawn[at] ?? '', spans })],
  )
  return plots.length > 0 ? plots : noChart(`its numbers are all of one ${time}`)
}

function noChart(why: string): { readonly reason: string } {
  return { reason: `No chart: ${why}.` }
}

/** What was found in time, or `otherwise`: without what was not, the page is still one. */
export async function unlessSlow<T, const O>(found: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await found
  } catch (error) {
    if (error instanceof NodeError && ['QueryTimeout', 'Saturated'].includes(error.kind)) return otherwise
    throw error
  }
}
