import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessPage } from './page.ts'

// `npm run access:docs`
writeFileSync(join(import.meta.dirname, '../../docs/access.md'), accessPage())
