// The script of verify.html.

import { checkWhatIsGiven } from './verify-page.ts'

checkWhatIsGiven()
