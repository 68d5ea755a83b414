import { openMemoryStore } from '../../adapters/memory-store.ts'
import { describeObjectStore } from './contract-suite.ts'

describeObjectStore('memory', async () => openMemoryStore())
