// What this format is, in and out, without its code, which is loaded for the first body of it and for each file.

import type { FileFacts as Written } from '../../libraries/columnar/outputs/file-format.ts'
import type { FileFacts } from '../../libraries/formats/format.ts'

const workbook = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

export const excelFacts: FileFacts = {
  kind: 'file',
  name: 'excel',
  title: 'Excel',
  mediaTypes: [workbook, 'application/vnd.ms-excel.sheet.macroenabled.12'],
  extensions: ['xlsx', 'xlsm'],
  parameters: ['sheet', 'skipRows', 'nulls', 'dateFormat', 'pivotYear'],
  hasHeader: true,
  about: 'a sheet of a workbook (.xlsx)',
}

export const xlsxFacts: Written = {
  kind: 'file',
  name: 'Xlsx',
  spellings: ['XLSX', 'xlsx'],
  mediaTypes: [workbook],
  extension: 'xlsx',
  hasSystemColumns: true,
  choices: [],
  hasLists: false,
  mostRows: 1_048_575,
  tellsSource: true,
  module: new URL(import.meta.url.endsWith('.ts') ? './written.ts' : './written.js', import.meta.url).href,
}
