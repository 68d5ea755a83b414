// What this format is, without its code, which is loaded for the first body of it.

import type { FileFacts } from '../format.ts'

export const arrowFacts: FileFacts = {
  kind: 'file',
  name: 'arrow',
  title: 'Arrow',
  mediaTypes: ['application/vnd.apache.arrow.stream', 'application/vnd.apache.arrow.file'],
  extensions: ['arrow', 'arrows', 'feather', 'ipc'],
  about: 'an Arrow IPC stream or file (Feather version 2), compressed or not, whose columns are matched by name',
}
