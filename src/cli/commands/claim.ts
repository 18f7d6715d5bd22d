import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import type { ClaimView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { readText } from '../options/text-input.ts'
import { table } from '../output/table.ts'
import { when } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'

/** `rouse claim …`: who works on what. */
export function registerClaim(program: Command, io: Io): void {
  const claim = program.command('claim').description('claim work, release it and hand it off; each claim has one owner')
  registerTake(claim, io)
  registerRelease(claim, io)
  registerHandOff(claim, io)
  registerList(claim, io)
}

function registerTake(parent: Command, io: Io): void {
  clientCommand(parent, 'take <ref>', 'claim a task, an issue, a commit or a path; repeat it to renew the claim', [
    'rouse claim take issue-7',
  ]).action(async (ref: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const claim = await gateway.call('POST /v1/claims', { body: { ref } })
    const how = claim.outcome === 'taken_over' ? `, taken over: ${plain(claim.reason)}` : ''
    print.result(claim, () => `${plain(claim.ref)} is ${plain(claim.owner)}'s${how}.\n`)
  })
}

function registerRelease(parent: Command, io: Io): void {
  clientCommand(parent, 'release <ref>', 'release a claim; anybody may release a stale one', [
    'rouse claim release issue-7',
  ]).action(async (ref: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    await gateway.call('DELETE /v1/claims', { body: { ref } })
    print.result({ ref, released: true }, () => `${plain(ref)} is free.\n`)
  })
}

function registerHandOff(parent: Command, io: Io): void {
  clientCommand(parent, 'handoff <ref> <to> [text...]', 'hand a claim off to another agent, with a message', [
    'rouse claim handoff issue-7 @mike "Tests are green, docs are missing"',
  ]).action(async (ref: string, to: string, words: string[], _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const message = readText(io, { words })
    const claim = await gateway.call('POST /v1/claims/handoff', { body: { ref, to, message } })
    print.result(claim, () => `${plain(claim.ref)} is ${plain(claim.owner)}'s, who got a message.\n`)
  })
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'show who works on what', ['rouse claim list', 'rouse claim list --owner @donna'])
    .option('--owner <agent>', 'only the claims of this agent')
    .option('--page-token <token>', 'the next page: the token at the end of the previous page')
    .action(async ({ owner, pageToken }: { owner?: string; pageToken?: string }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('GET /v1/claims', { query: { owner, pageToken } })
      print.result(answer, () => {
        const more = answer.nextPageToken ? `More with --page-token ${plain(answer.nextPageToken)}\n` : ''
        return claimTable(io, answer.claims) + more
      })
    })
}

function claimTable(io: Io, claims: readonly ClaimView[]): string {
  return table(
    io,
    ['REF', 'OWNER', 'SINCE', 'LAST SEEN', 'STATE'],
    claims.map((claim) => [
      claim.ref,
      claim.owner,
      when(io, claim.claimedAt),
      when(io, claim.lastSeenAt),
      claim.stale ? `stale: ${claim.reason}` : 'held',
    ]),
    'Nothing is claimed.',
    ['LAST SEEN'],
  )
}
