/** Longer lists are for the API. */
const pagesMax = 200

/** The items of a list's pages, in one list. */
export async function readPages<Page extends { readonly nextPageToken: string | null }, Item>(
  read: (pageToken: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  max = pagesMax,
): Promise<Item[]> {
  const items: Item[] = []
  let pageToken: string | undefined
  for (let page = 0; page < max; page++) {
    const answer = await read(pageToken)
    items.push(...itemsOf(answer))
    pageToken = answer.nextPageToken || undefined
    if (pageToken === undefined) break
  }
  return items
}
