import { writeFileSync } from 'node:fs'
import { renderDocument } from './document.ts'
import { documentPath } from './document-path.ts'

// `npm run openapi`
writeFileSync(documentPath, renderDocument())
