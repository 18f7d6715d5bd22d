import { sift } from '../router.js'
import { plain } from '../show.js'
import { html } from '../vendor/lit.js'

/** A field that searches what is listed, as one types. Its text is in the address. */
export const searchField = (text, label) =>
  html`<input type="search" aria-label=${label} placeholder=${label} .value=${text} autocomplete="off" spellcheck="false" @input=${({ target }) => sift({ q: target.value || undefined })}>`

/** True when each word of a search is in one of the texts. */
export function sifted(search, ...texts) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return true
  const all = texts.map((text) => plain(text).toLowerCase()).join('\n')
  return words.every((word) => all.includes(word))
}
