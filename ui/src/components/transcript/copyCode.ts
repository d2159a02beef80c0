import { useToasts } from '../../data/toasts'

/** Makes the copy buttons inside of rendered Markdown work; for the click handler around it. */
export async function copyCode(event: MouseEvent): Promise<void> {
  const button = (event.target as Element).closest('button[data-copy]')
  const code = button?.closest('.code-block')?.querySelector('code')
  if (!button || !code) return
  try {
    await navigator.clipboard.writeText(code.textContent ?? '')
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 1500)
  } catch {
    useToasts().show('The browser did not let Sayso copy. Select the text and copy it by hand.')
  }
}
