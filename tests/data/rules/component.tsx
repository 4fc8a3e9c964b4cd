export function Bad(props: { html: string }) {
  // ruleid: javascript-dom-xss
  return <div dangerouslySetInnerHTML={{ __html: props.html }} />;
}
export const Good = (props: { text: string }) => <div>{props.text}</div>;
