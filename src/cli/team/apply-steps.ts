import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Refused, UsageError } from '../../client/failure.ts'
import { bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import type { JsonObject } from '../../lib/json.ts'
import { operatorIdentity } from '../../words/callers.ts'
import { targets } from '../../words/targets.ts'
import { savingKey } from '../options/save-key.ts'
import { type MadeSubscription, type Step, sectionOf } from './steps.ts'

/** The outcome of a step. */
export interface StepResult {
  readonly action: 'made' | 'changed' | 'removed' | 'refused'
  readonly kind: string
  readonly name: string
  /** Where the file has its entry: `team.yaml:14`. */
  readonly place?: string
  readonly fields?: readonly string[]
  /** The file with the key that was made. */
  readonly keyFile?: string
  readonly tasksRejected?: number
  /** Why it was refused. */
  readonly problem?: JsonObject
}

interface ApplyOptions {
  /** The directory for keys; absent: no step makes one. */
  readonly keys: string | undefined
  readonly placeOf: (path: readonly (string | number)[]) => string
}

/** True when a step makes a key, which is shown only once. */
export const makesKey = (step: Step): boolean =>
  step.act === 'make agent' || (step.act === 'make subscription' && targets[step.body.harnessTarget].isSigned)

/** The subject of a step, for people and programs: `agent @donna`, and the fields. */
export const aboutStep = (step: Step): Pick<StepResult, 'kind' | 'name' | 'fields'> => ({
  kind: step.act.split(' ')[1]!,
  name: step.name,
  ...(step.act.startsWith('change') && 'body' in step ? { fields: Object.keys(step.body) } : {}),
})

/** Does one step after the other, and reports of each what became of it. What is refused keeps nothing else. Errors: `Unreachable`, the signal's. */
export async function* applySteps(
  gateway: GatewayClient,
  steps: readonly Step[],
  { keys, placeOf }: ApplyOptions,
): AsyncGenerator<StepResult> {
  for (const step of steps) {
    const about = {
      ...aboutStep(step),
      ...(step.index === undefined ? {} : { place: placeOf([sectionOf(step), step.index]) }),
    }
    yield await act(gateway, step, keys).then(
      (done) => ({ ...about, ...done }),
      (error) => ({ ...about, action: 'refused', problem: problemOf(error) }) as const,
    )
  }
}

function problemOf(error: unknown): JsonObject {
  if (error instanceof Refused) return error.problem
  if (error instanceof UsageError) return { title: error.message, code: 'usage' }
  throw error
}

type StepOutcome = Pick<StepResult, 'action' | 'keyFile' | 'tasksRejected'>

async function act(gateway: GatewayClient, step: Step, keys: string | undefined): Promise<StepOutcome> {
  switch (step.act) {
    case 'make agent': {
      const path = keys && join(keys, `${bareHandle(step.body.handle)}.key`)
      const work = () => gateway.call('POST /v1/agents', { body: step.body })
      const { keyFile } = await savingKey(path, work, '--save-keys')
      return { action: 'made', ...(keyFile === undefined ? {} : { keyFile }) }
    }
    case 'change agent': {
      const params = { handle: bareHandle(step.handle) }
      await gateway.call('PATCH /v1/agents/:handle', { params, body: step.body })
      return { action: 'changed' }
    }
    case 'remove agent': {
      const params = { handle: bareHandle(step.handle) }
      const { tasksRejected } = await gateway.call('DELETE /v1/agents/:handle', { params })
      return { action: 'removed', tasksRejected }
    }
    case 'make subscription':
      return makeSubscription(gateway, step.body, keys)
    case 'change subscription':
      await gateway.call('PATCH /v1/wake-subscriptions/:id', { params: { id: step.id }, body: step.body })
      return { action: 'changed' }
    case 'remove subscription':
      await gateway.call('DELETE /v1/wake-subscriptions/:id', { params: { id: step.id } })
      return { action: 'removed' }
    case 'make grant': {
      const { grantor, ...body } = step.body
      await gateway.call('POST /v1/permissions', { body: { ...body, ...unlessOperator('grantor', grantor) } })
      return { action: 'made' }
    }
    case 'remove grant':
      await gateway.call('DELETE /v1/permissions/:id', { params: { id: step.id } })
      return { action: 'removed' }
  }
}

async function makeSubscription(
  gateway: GatewayClient,
  { agentIdentity, status, ...fields }: MadeSubscription,
  keys: string | undefined,
): Promise<StepOutcome> {
  const body = { ...fields, ...unlessOperator('agentIdentity', agentIdentity) }
  const isSigned = targets[fields.harnessTarget].isSigned
  const path = keys && isSigned ? freePath(keys, `${bareHandle(agentIdentity)}.${fields.trigger}`) : undefined
  const made = await savingKey(path, () => gateway.call('POST /v1/wake-subscriptions', { body }), '--save-keys')
  if (status === 'paused') {
    const params = { id: made.subscriptionId }
    await gateway.call('PATCH /v1/wake-subscriptions/:id', { params, body: { status } })
  }
  return { action: 'made', ...(made.keyFile === undefined ? {} : { keyFile: made.keyFile }) }
}

/** The operator is who calls, and not named. */
const unlessOperator = <Name extends string>(name: Name, identity: string): { [Field in Name]?: string } =>
  identity === operatorIdentity ? {} : ({ [name]: identity } as { [Field in Name]: string })

/** An agent may have several subscriptions with one trigger. */
function freePath(directory: string, name: string): string {
  for (let n = 1; ; n++) {
    const path = join(directory, `${name}${n === 1 ? '' : `.${n}`}.signing-key`)
    if (!existsSync(path)) return path
  }
}
