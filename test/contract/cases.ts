import { a2aCases } from './a2a-cases.ts'
import { a2aOperationCases } from './a2a-operation-cases.ts'
import { approvalCases } from './approval-cases.ts'
import { cardCases } from './card-cases.ts'
import { eventCases } from './event-cases.ts'
import type { FixtureCase } from './fixture.ts'
import { followerCases } from './follower-cases.ts'
import { mailCases } from './mail-cases.ts'
import { mcpCases } from './mcp-cases.ts'
import { mcpEventCases } from './mcp-event-cases.ts'
import { operatorToolCases } from './operator-tool-cases.ts'
import { problemCases } from './problem-cases.ts'
import { pushCases } from './push-cases.ts'
import { recoveryCases } from './recovery-cases.ts'
import { refusalCases } from './refusal-cases.ts'
import { registryCases } from './registry-cases.ts'
import { signatureCases } from './signature-cases.ts'
import { streamCases } from './stream-cases.ts'
import { teamCases } from './team-cases.ts'
import { wakeCases } from './wake-cases.ts'
import { readMailCases, subscriptionCases, taskCases } from './work-cases.ts'

/** Every folder of `fixtures/`. A new case is a line in its group's table, and `npm run fixtures`. */
export const cases: readonly FixtureCase[] = [
  ...wakeCases,
  ...signatureCases,
  ...pushCases,
  ...cardCases,
  ...problemCases,
  ...refusalCases,
  ...a2aCases,
  ...a2aOperationCases,
  ...mailCases,
  ...teamCases,
  ...registryCases,
  ...taskCases,
  ...readMailCases,
  ...subscriptionCases,
  ...streamCases,
  ...eventCases,
  ...recoveryCases,
  ...mcpCases,
  ...operatorToolCases,
  ...mcpEventCases,
  ...followerCases,
  ...approvalCases,
]
