import { exchangeCode, Refused, useProject } from './api.js'
import { note } from './dialog.js'
import { keep } from './key.js'
import { takeSignInCode } from './router.js'
import { say } from './show.js'
import { html, nothing } from './vendor/lit.js'

/** The reason why the last link did not sign anybody in; null: it did, or there was none. */
let refusal = null

/** Keeps the key of a sign-in link, if the address is one: the code leaves the address first. Returns whether it was one. */
export async function takeLink() {
  const link = takeSignInCode()
  if (link === undefined) return false
  refusal = null
  try {
    const key = await exchangeCode(link.code)
    sessionStorage.clear()
    if (link.project) useProject(link.project)
    keep(key)
  } catch (error) {
    refusal = error.message
    note(refusal, true)
    if (!(error instanceof Refused)) console.error(error)
  }
  return true
}

/** The form of those who are not signed in. `begin` signs in with the key that is kept. */
export function signInForm(begin) {
  const enter = async (event) => {
    event.preventDefault()
    const field = event.target.elements.key
    refusal = null
    keep(field.value.trim())
    field.value = ''
    if (!(await begin())) note('The gateway does not know this key.', true)
  }
  return html`<main class="sign-in"><h1>Rouse</h1>
    ${refusal === null ? nothing : html`<div class="failure" role="alert">${say(refusal)}</div>`}
    <form @submit=${enter}>
      <label for="key">Key of an agent or an operator</label>
      <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="rk_…">
      <button class="main">Sign in</button>
    </form>
    <p class="dim">In a terminal, <code>rouse open</code> prints a link that signs in. The admin key is in <code>.rouse/admin.key</code>. You see what the key may see. It stays in this tab until you sign out or close it.</p></main>`
}
