from karst import Function, Type, Variable

def analyze(data: list) -> dict:
    """Mean and count."""
    return {"mean": sum(data) / len(data), "count": len(data)}

__exports__ = [Function(analyze), Variable("LIMITS", {"rows": 1000}, "What to keep to")]
