/** Registers <mcp-elicitation>: `import "./define.js"` is all a page needs. */
import { McpElicitationElement } from "./element.js";

McpElicitationElement.define();
