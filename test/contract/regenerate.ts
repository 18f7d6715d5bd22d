import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cases } from './cases.ts'
import { fixturesRoot, renderCase } from './fixture.ts'

// `npm run fixtures`: writes every folder again, and removes folders without a case.
const rendered: { folder: string; files: Record<string, string> }[] = []
for (const fixture of cases) rendered.push({ folder: fixture.folder, files: await renderCase(fixture) })

for (const entry of readdirSync(fixturesRoot, { withFileTypes: true })) {
  if (entry.isDirectory()) rmSync(join(fixturesRoot, entry.name), { recursive: true })
}
for (const { folder, files } of rendered) {
  mkdirSync(join(fixturesRoot, folder), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(fixturesRoot, folder, name), text)
}
console.log(`${rendered.length} fixtures written. Read the difference before you keep it: clients replay these bytes.`)
