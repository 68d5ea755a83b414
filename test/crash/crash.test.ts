// A node with the log in its own directory is killed under load, again and again.

import { testKills } from './kills.ts'

testKills(() => ({}))
