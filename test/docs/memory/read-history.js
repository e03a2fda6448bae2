_history_1.match(/order [A-Z]-\d+/g)
