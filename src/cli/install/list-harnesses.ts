import { existsSync } from 'node:fs'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { readRecords } from '../../config-files/record.ts'
import { harnessIds } from '../../harnesses/harness.ts'
import { programPath } from '../../harnesses/program-path.ts'
import { harnessTable } from '../../harnesses/table.ts'
import { table } from '../table.ts'

/** Prints which harnesses are on this machine, and where Rouse is installed. */
export function listHarnesses(io: Io, print: Printer): void {
  const place = { env: io.env, platform: process.platform, cwd: process.cwd() }
  const records = [...readRecords(io.env)]
  const harnesses = harnessIds.map((id) => {
    const { title, binary, home } = harnessTable[id]
    const files = records.filter(([, record]) => record.harness === id).map(([path]) => path)
    const program = programPath(binary, place)
    return { id, title, found: program !== undefined || existsSync(home(place)), program: program ?? null, files }
  })
  print.result({ harnesses }, () => {
    const rows = harnesses.map(({ id, title, found, files }) => [
      id,
      title,
      found ? 'yes' : 'no',
      files.length > 0 ? `yes (${files.length} ${files.length === 1 ? 'file' : 'files'})` : 'no',
    ])
    return `${table(io, ['NAME', 'HARNESS', 'FOUND', 'INSTALLED'], rows, '')}\nSee what would change: rouse install <name> --dry-run\n`
  })
}
