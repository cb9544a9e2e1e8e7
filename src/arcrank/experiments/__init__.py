"""The experiments of the papers: `registry` names them, each paper has one module, `report` shows the results."""
