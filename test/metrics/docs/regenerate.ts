import { writeFileSync } from 'node:fs'
import { pagePath, renderPage } from './page.ts'

// `npm run metrics:docs`
writeFileSync(pagePath, renderPage())
