import { type Command, InvalidArgumentError } from 'commander'
import type { Io } from '../../client/io.ts'
import type { ProjectLimitsView } from '../../client/route-types.ts'
import { type LimitName, projectLimits } from '../../limits.ts'
import { table } from '../output/table.ts'
import { clientCommand, connect } from '../run/client-command.ts'

type Changes = Partial<Record<LimitName, number | null>>

/** `rouse project limits`: what a project and its agents may use, and how to change it. */
export function registerProjectLimits(parent: Command, io: Io): void {
  clientCommand(parent, 'limits <project>', 'show or set what a project and its agents may use', [
    'rouse project limits web',
    'rouse project limits web --set requestsPerMinute=12000 --set streams=0',
    'rouse project limits web --reset streams',
  ])
    .option('--set <name=number>', 'set a limit; 0 is no limit; repeatable', collectLimit)
    .option('--reset <name>', 'set a limit back to its default; repeatable', collectReset)
    .action(async (name: string, { set, reset }: { set?: Changes; reset?: Changes }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const params = { project: name }
      const limits = { ...set, ...reset }
      const isChange = Object.keys(limits).length > 0
      const answer = isChange
        ? await gateway.call('PATCH /v1/projects/:project', { params, body: { limits } })
        : await gateway.call('GET /v1/projects/:project', { params })
      print.result(answer, () => limitTable(io, answer))
    })
}

function limitTable(io: Io, { limits, overrides }: ProjectLimitsView): string {
  const rows = Object.entries(limits).map(([name, value]) => {
    const unit = projectLimits[name as LimitName]?.unit
    return [name, value === 0 ? 'no limit' : value, unit, name in overrides ? 'set' : 'default']
  })
  return table(io, ['LIMIT', 'VALUE', 'UNIT', 'SOURCE'], rows, 'No limits.')
}

function collectLimit(text: string, earlier: Changes | undefined): Changes {
  const [name = '', value = ''] = text.split('=')
  if (!/^\d{1,15}$/.test(value))
    throw new InvalidArgumentError('Give name=number, for example streams=200; 0 is no limit.')
  return { ...earlier, [limitName(name)]: Number(value) }
}

function collectReset(text: string, earlier: Changes | undefined): Changes {
  return { ...earlier, [limitName(text)]: null }
}

function limitName(text: string): LimitName {
  const name = text.trim()
  if (Object.hasOwn(projectLimits, name)) return name as LimitName
  throw new InvalidArgumentError(`Give one of ${Object.keys(projectLimits).join(', ')}.`)
}
