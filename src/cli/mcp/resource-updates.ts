import type { EventView } from '../../fronts/rest/events/view.ts'

/** The subscribed resources that an event has changed. What is `silent` changes nothing that anybody is told of. Pure. Source: S1-15. */
export function changedResources(subscribed: Iterable<string>, { type, taskId, data }: EventView): string[] {
  if (data.wakePolicy === 'silent') return []
  const isMail = type.startsWith('message.')
  const { threadId } = data
  return [...subscribed].filter((uri) => {
    const [, kind, id] = /^rouse:\/\/([a-z]+)(?:\/(.*))?$/.exec(uri) ?? []
    if (kind === 'inbox') return isMail
    if (kind === 'thread') return isMail && threadId !== undefined && decoded(id) === threadId
    return kind === 'task' && taskId !== undefined && decoded(id) === taskId
  })
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return undefined
  }
}
