import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'
import { type ClaimView, claimTable } from '../views/claim-view.ts'

/** `rouse claim …`: who works on what. */
export function registerClaim(program: Command, io: Io): void {
  const claim = program.command('claim').description('take, give back and hand over work, one owner at a time')
  registerTake(claim, io)
  registerRelease(claim, io)
  registerHandOff(claim, io)
  registerList(claim, io)
}

function registerTake(parent: Command, io: Io): void {
  clientCommand(
    parent,
    'take <ref>',
    'become the owner of a task, an issue, a commit, a path; again to say that you still are',
    ['rouse claim take issue-7'],
  ).action(async (ref: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const claim = await gateway.call<ClaimView>('POST', '/v1/claims', { body: { ref } })
    const how = claim.outcome === 'taken_over' ? `, taken over: ${plain(claim.reason)}` : ''
    print.result(claim, () => `${plain(claim.ref)} is ${plain(claim.owner)}'s${how}.\n`)
  })
}

function registerRelease(parent: Command, io: Io): void {
  clientCommand(parent, 'release <ref>', 'give it back; a stale claim anybody clears', [
    'rouse claim release issue-7',
  ]).action(async (ref: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    await gateway.call('DELETE', '/v1/claims', { body: { ref } })
    print.result({ ref, released: true }, () => `${plain(ref)} is free.\n`)
  })
}

function registerHandOff(parent: Command, io: Io): void {
  clientCommand(parent, 'handoff <ref> <to> [text...]', 'give it to another, with a word', [
    'rouse claim handoff issue-7 @mike "Tests are green, docs are missing"',
  ]).action(async (ref: string, to: string, words: string[], _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const message = words.length > 0 ? words.join(' ') : undefined
    const claim = await gateway.call<ClaimView>('POST', '/v1/claims/handoff', { body: { ref, to, message } })
    print.result(claim, () => `${plain(claim.ref)} is ${plain(claim.owner)}'s, who has been told.\n`)
  })
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'show who works on what', ['rouse claim list', 'rouse claim list --owner @donna'])
    .option('--owner <agent>', 'only what this agent has')
    .option('--page-token <token>', 'the next page, as the page before named it')
    .action(async (query: { owner?: string; pageToken?: string }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call<{ claims?: ClaimView[]; nextPageToken?: string }>('GET', '/v1/claims', {
        query: { owner: query.owner, pageToken: query.pageToken },
      })
      print.result(answer, () => {
        const more = answer.nextPageToken ? `More with --page-token ${plain(answer.nextPageToken)}\n` : ''
        return claimTable(io, answer.claims ?? []) + more
      })
    })
}
