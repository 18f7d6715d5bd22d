import { existsSync } from 'node:fs'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { readRecords } from '../../config-files/record.ts'
import { harnesses as all } from '../../harnesses/harnesses.ts'
import { programPath } from '../../harnesses/program-path.ts'
import { table } from '../output/table.ts'

/** Prints which harnesses are on this machine, and where Rouse is installed. */
export function listHarnesses(io: Io, print: Printer): void {
  const place = { env: io.env, platform: process.platform, cwd: process.cwd() }
  const records = [...readRecords(io.env)]
  const harnesses = all.map(({ id, title, binary, home }) => {
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
