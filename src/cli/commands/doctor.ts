import type { Command } from 'commander'
import { exitCodes, Reported } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { oneHarness } from '../../harnesses/harnesses.ts'
import { diagnose, reportText } from '../doctor/run-doctor.ts'
import { clientCommand, commonOptions } from '../run/client-command.ts'

/** Exits with 1 where something is broken. */
export function registerDoctor(program: Command, io: Io): void {
  clientCommand(
    program,
    'doctor [harness]',
    'check what rouse install has set up, and name the command that mends what is broken',
    [
      'rouse doctor',
      'rouse doctor codex',
      'rouse doctor --json | jq \'.harnesses[].checks[] | select(.state == "broken")\'',
    ],
  ).action(async (name: string | undefined, _options: unknown, command: Command) => {
    const report = await diagnose(io, name === undefined ? undefined : oneHarness(name))
    createPrinter(io, commonOptions(command).json === true).result(report, () => reportText(io, report))
    if (!report.ok) throw new Reported(exitCodes.refused)
  })
}
