// Takes the deliveries of a push subscription, behind a server that has the
// certificate. SIGTERM ends it when what it has in hand is done.
//
//	SIGNING_SECRETS=whsec_... PORT=8081 go run endpoint.go
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type message struct {
	MessageID string `json:"messageId"`
	Body      string `json:"body"`
}

// EZGH-Signature: t=1791997360,v1=5f0c...: of these bytes, within five minutes
func genuine(header string, body []byte, secrets []string) bool {
	stamp := ""
	signatures := [][]byte{}
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == "t" {
			if stamp != "" {
				return false
			}
			stamp = value
		}
		if signature, err := hex.DecodeString(value); name == "v1" && err == nil {
			signatures = append(signatures, signature)
		}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return false
	}
	if age := time.Since(time.Unix(seconds, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return false
	}
	for _, secret := range secrets {
		key, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(stamp + "."))
		mac.Write(body)
		for _, signature := range signatures {
			if hmac.Equal(signature, mac.Sum(nil)) {
				return true
			}
		}
	}
	return false
}

// Delivery is at least once, so an order whose id is known is done; with a
// database, do the work and keep the id in one transaction.
type ledger struct {
	sync.Mutex
	file *os.File
	done map[string]bool
}

func open(name string) *ledger {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	l := &ledger{file: file, done: map[string]bool{}}
	for _, id := range strings.Fields(string(text)) {
		l.done[id] = true
	}
	return l
}

func (l *ledger) handle(m message) error {
	if !json.Valid([]byte(m.Body)) { // your code
		return errors.New("it is no JSON")
	}
	l.Lock()
	defer l.Unlock()
	if l.done[m.MessageID] {
		return nil
	}
	if _, err := fmt.Fprintln(l.file, m.MessageID); err != nil {
		return err
	}
	l.done[m.MessageID] = true
	return nil
}

func main() {
	secrets := strings.Fields(os.Getenv("SIGNING_SECRETS")) // during a rotation both, new and old
	name, port := os.Getenv("DONE"), os.Getenv("PORT")
	if name == "" {
		name = "done.txt"
	}
	if port == "" {
		port = "8081"
	}
	l := open(name)

	server := &http.Server{Addr: "127.0.0.1:" + port, ReadHeaderTimeout: 10 * time.Second}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
		if err != nil {
			http.Error(w, "", http.StatusRequestEntityTooLarge)
			return
		}
		if !genuine(r.Header.Get("EZGH-Signature"), body, secrets) {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		var delivery struct{ Messages []message }
		if err := json.Unmarshal(body, &delivery); err != nil {
			http.Error(w, "", http.StatusBadRequest)
			return
		}
		failed := []string{} // these come again, all others are acknowledged
		for _, m := range delivery.Messages {
			if err := l.handle(m); err != nil {
				log.Print(m.MessageID, " ", err)
				failed = append(failed, m.MessageID)
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string][]string{"failed": failed}); err != nil {
			log.Print(err)
		}
	})

	stop, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	ended := make(chan error)
	go func() {
		<-stop.Done()
		ended <- server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
}
