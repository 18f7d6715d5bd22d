/**
 * Returns the first prompt of a restarted harness: fixed text of ours, with the handle of its agent and the number of the act. No
 * words of others are in it, because it may become an argument of a command. Pure. Source: S3-7, S1-47.
 */
export function bootPrompt(identity: string, epoch: number | null): string {
  const which = epoch === null ? 'proof of the recipe' : `restart ${epoch}`
  return [
    `Rouse has started this session for ${identity.replace(/[^\w@.:-]/g, '')} (${which}).`,
    '1. Read the start file of this project (AGENTS.md, CLAUDE.md or GEMINI.md), if there is one.',
    '2. Look for a hand-over note: rouse inbox --concept sunset-protocol-handover',
    '3. Say once that you work: rouse presence set active',
    '4. Go on: with the note, with your open tasks (rouse task list) and your unread mail (rouse inbox --unread).',
  ].join('\n')
}
