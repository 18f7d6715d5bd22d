import { html, keyed, nothing, render } from './vendor/lit.js'

const place = document.querySelector('#dialogs')
let count = 0
const shown = () => place.querySelector('dialog')

/** Shows a dialog. Resolves with the value of the button that closed it; undefined: it was left. */
function open({ title, content, label }) {
  return new Promise((resolve) => {
    const before = document.activeElement
    const number = ++count
    const end = ({ target }) => {
      const value = target.returnValue
      if (number === count) render('', place)
      before?.focus?.()
      resolve(value || undefined)
    }
    // A click beside the dialog leaves it.
    const beside = ({ target, currentTarget }) => target === currentTarget && currentTarget.close('')
    render(
      keyed(
        number,
        html`<dialog aria-labelledby="dialog-title" aria-label=${label ?? nothing} @close=${end} @click=${beside}><div>
        <h2 id="dialog-title">${title}</h2>${content}</div></dialog>`,
      ),
      place,
    )
    shown().showModal()
  })
}

const close = (value) => () => shown().close(value)

/** Asks before something is done. Resolves with whether the person wants it. */
export async function confirm({ title, text, action, danger = false, other = 'Leave it' }) {
  const content = html`<p>${text}</p><div class="row end">
    <button type="button" @click=${close('')}>${other}</button>
    <button type="button" class=${danger ? 'danger' : 'main'} @click=${close('yes')}>${action}</button></div>`
  return (await open({ title, content })) === 'yes'
}

/** Lets a person choose one of `[value, words]`: by a click, the arrow keys or its number. Resolves with the value; undefined: none. */
export async function choose({ title, options }) {
  const keys = (event) => {
    const buttons = [...event.currentTarget.querySelectorAll('button')]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length).focus()
    else buttons[Number(event.key) - 1]?.click()
  }
  const content = html`<div class="menu" @keydown=${keys}>${options.map(
    ([, words], at) => html`<button type="button" @click=${close(String(at))}><kbd>${at + 1}</kbd> ${words}</button>`,
  )}</div>`
  const chosen = await open({ title, content })
  return chosen === undefined ? undefined : options[Number(chosen)][0]
}

/** Shows the keys of the page: `[key, what it does]`. */
export function help(keys) {
  const content = html`<dl class="keys-help">${keys.map(([key, does]) => html`<dt><kbd>${key}</kbd></dt><dd>${does}</dd>`)}</dl>
    <div class="row end"><button type="button" class="main" @click=${close('')}>Close</button></div>`
  return open({ title: 'Keys', content })
}

export const isOpen = () => shown()?.open ?? false

const notes = document.querySelector('#notes')
let noted

/** Says what was done, or why it was not. Screen readers read it too. `undo` takes it back. */
export function note(text, { isError = false, undo } = {}) {
  clearTimeout(noted)
  const takeBack = () => {
    clear()
    undo()
  }
  render(html`${text}${undo ? html` <button type="button" @click=${takeBack}>Undo</button>` : nothing}`, notes)
  notes.className = isError ? 'shown bad' : 'shown'
  noted = setTimeout(clear, isError || undo ? 12_000 : 5_000)
}

function clear() {
  notes.className = ''
  render('', notes)
}
