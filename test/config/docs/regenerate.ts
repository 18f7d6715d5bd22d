import { writeFileSync } from 'node:fs'
import { pagePath, renderPage } from './page.ts'

writeFileSync(pagePath, renderPage())
