// What this format is, without its code, which is loaded for the first body of it.

import type { FileFacts } from '../../libraries/formats/format.ts'

export const excelFacts: FileFacts = {
  kind: 'file',
  name: 'excel',
  title: 'Excel',
  mediaTypes: [
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.ms-excel.sheet.macroenabled.12',
  ],
  extensions: ['xlsx', 'xlsm'],
  parameters: ['sheet', 'skipRows', 'nulls', 'dateFormat', 'pivotYear'],
  hasHeader: true,
  about: 'a sheet of a workbook (.xlsx)',
}
