// Runs deliveries.go, the page's Go endpoint as it is, on $PORT, with a handler
// that fails each body that begins with "fail" the first time. What it handled
// is printed, a JSON line for each message.

package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
)

func main() {
	var mutex sync.Mutex
	failed := map[string]bool{}
	out := json.NewEncoder(os.Stdout)

	handle := func(_ *http.Request, m message) error {
		mutex.Lock()
		defer mutex.Unlock()

		if strings.HasPrefix(m.Body, "fail") && !failed[m.MessageID] {
			failed[m.MessageID] = true
			return errors.New("told to")
		}
		return out.Encode([]string{m.MessageID, m.Body})
	}

	secrets := []string{os.Getenv("EZGH_QUEUES_SIGNING_SECRET")}

	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"),
		deliveries(secrets, handle)))
}
