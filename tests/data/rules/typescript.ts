function code(text: string): void {
  // ruleid: javascript-eval
  eval(text);
}

function page(element: HTMLElement, text: string): void {
  // ruleid: javascript-dom-xss
  element.innerHTML = text as string;
  // ok: javascript-dom-xss
  element.textContent = text;
}

async function handler(req: Request, res: Response): Promise<void> {
  // ruleid: javascript-ssrf
  await fetch(req.body.url as string);
  // ruleid: javascript-open-redirect
  res.redirect(req.query.next);
}
