import { html, render } from './vendor/lit.js'

const place = document.querySelector('#dialogs')

/** Asks before something is done. Resolves with whether the person wants it. */
export function confirm({ title, text, action, danger = false }) {
  return new Promise((resolve) => {
    const end = (answer) => {
      render('', place)
      resolve(answer)
    }
    render(
      html`<dialog aria-labelledby="dialog-title" @close=${({ target }) => end(target.returnValue === 'yes')}>
        <h2 id="dialog-title">${title}</h2>
        <p>${text}</p>
        <div class="row end">
          <button type="button" @click=${() => shown().close('no')}>Leave it</button>
          <button type="button" class=${danger ? 'danger' : 'main'} @click=${() => shown().close('yes')}>${action}</button>
        </div>
      </dialog>`,
      place,
    )
    shown().showModal()
  })
}

const shown = () => place.querySelector('dialog')

const notes = document.querySelector('#notes')
let noted

/** Says what was done, or why it was not. Screen readers read it too. */
export function note(text, isError = false) {
  clearTimeout(noted)
  notes.textContent = text
  notes.className = isError ? 'shown bad' : 'shown'
  noted = setTimeout(
    () => {
      notes.className = ''
      notes.textContent = ''
    },
    isError ? 12_000 : 5_000,
  )
}
