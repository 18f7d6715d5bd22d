import { html, live, nothing } from './vendor/lit.js'

// The text that a person has typed belongs to the need that it answers. It outlives a reload, a step back and a key that ends, in its tab.
const prefix = 'rouse-draft '
const ownerPlace = 'rouse-draft-owner'

export const draftOf = (id) => sessionStorage.getItem(prefix + id) ?? ''

export function keepDraft(id, text) {
  try {
    if (text === '') sessionStorage.removeItem(prefix + id)
    else sessionStorage.setItem(prefix + id, text)
  } catch {
    // A browser keeps some megabytes. The text is still in its field.
  }
}

/** Keeps the drafts for one reader: those of another one go. */
export function ownDrafts(owner) {
  if (sessionStorage.getItem(ownerPlace) !== owner)
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(prefix)) sessionStorage.removeItem(name)
  sessionStorage.setItem(ownerPlace, owner)
}

/** A field whose text is kept. Ctrl+Enter sends its form. */
export function textField({ id, label, name = 'text', rows = 3, max = 100_000, isRequired = true }) {
  const keys = (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.target.form.requestSubmit()
  }
  return html`<label><span>${label}</span><textarea name=${name} rows=${rows} maxlength=${max} ?required=${isRequired}
    .value=${live(draftOf(id))} @input=${({ target }) => keepDraft(id, target.value)} @keydown=${keys}></textarea></label>`
}

/** A form with one text. `send` returns whether it was sent; then the text goes. While it is sent, the form sends nothing else. */
export function textForm({ id, action, send, more = nothing, ...field }) {
  const submit = async (event) => {
    event.preventDefault()
    const form = event.target
    if (form.ariaBusy === 'true') return
    form.ariaBusy = 'true'
    const text = form.elements.text.value
    try {
      if (await send(text)) keepDraft(id, '')
    } finally {
      form.ariaBusy = null
      if (draftOf(id) === '') form.reset()
    }
  }
  return html`<form class="answer" @submit=${submit}>${textField({ id, ...field })}
    <div class="row"><button class="main">${action}</button>${more}<span class="dim hint"><kbd>Ctrl</kbd> <kbd>Enter</kbd> sends</span></div></form>`
}
