import { describeObjectStore } from './contract-suite.ts'
import { openMemoryStore } from '../../src/store/memory-store.ts'

describeObjectStore('memory', async () => openMemoryStore())
